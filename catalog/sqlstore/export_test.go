package sqlstore

// The statements whose plans tests look at.
var (
	SelectSearches = selectSearches
	SelectClicks   = selectClicks
)
