package eval

// The parsers of outside data, for the fuzz targets.
var (
	ParseQrels     = parseQrels
	ParseQueries   = parseQueries
	ParseDocuments = parseDocuments
	ReadDocuments  = readDocuments
	ParseRun       = parseRun
)

// Document is one of a collection's own corpus.
type Document = document
