package eval

// The parsers of outside data, for the fuzz targets.
var (
	ParseQrels     = parseQrels
	ParseQueries   = parseQueries
	ParseDocuments = parseDocuments
	ParseRun       = parseRun
)
