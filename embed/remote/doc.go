// Package remote is shared by embedders whose model runs on a server: the HTTP
// client for addresses an operator configured, the prefixes that models were
// trained with, batches that are halved when the server does not take them, the
// validation of its responses, and the identity of its model. Each kind of server
// implements Server: ollama has one, http two.
package remote
