package eval

// The parsers of outside data, for the fuzz targets.
var (
	ParseQueries   = parseQueries
	ParseDocuments = parseDocuments
	ParseRun       = parseRun
)
