// Package scale makes corpora of any size, to measure how the index behaves
// with a hundred thousand or a million passages: records of real texts,
// recombined. The program testing/measure prints the figures.
package scale
