// Package remote is what embedders share whose model runs on a server: the
// HTTP client for addresses an operator configured, the prefixes that models
// were trained with, batches that adapt to the server, the checks of what it
// answers, and the identity of the model behind it. A kind of server is a
// Server; ollama and http have one each.
package remote
