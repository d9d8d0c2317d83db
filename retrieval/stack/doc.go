// Package stack is the life of an index: it opens the engines of a generation
// over a catalog, makes one process the writer of a directory's index, lets the
// others read it and take over, builds the index of another model beside the
// one that serves, and releases what is no longer used.
//
// A Stack is one open generation. A Keeper keeps the index of a directory up to
// date while a server runs, and answers from the generation that serves.
package stack
