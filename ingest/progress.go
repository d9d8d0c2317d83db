package ingest

// Progress receives the progress of runs. Sources that run concurrently call
// it from several goroutines.
type Progress interface {
	Start(source string)
	// Progress reports how much of a source is done; total 0 = unknown.
	Progress(source string, done, total int)
	Done(report Report)
}

// silent is the Progress of a pipeline without one: the log has the results.
type silent struct{}

func (silent) Start(string)              {}
func (silent) Progress(string, int, int) {}
func (silent) Done(Report)               {}
