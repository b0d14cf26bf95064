package attempt

// Ask asks which element a locator means that finds nothing while its test runs. All of it
// was said by a process in which a stranger's program runs.
type Ask struct {
	Test     string `json:"test"` // Playwright's ID
	Retry    int    `json:"retry"`
	Method   string `json:"method"`   // "click"
	Selector string `json:"selector"` // as Playwright has it inside
	// Frames are where the step is in the source, innermost first; files are relative to the
	// package.
	Frames []Frame `json:"frames"`
	// Earlier are the places of steps of the same method and selector that the same function
	// took before in this try, in their order.
	Earlier []Place `json:"earlier,omitempty"`
	URL     string  `json:"url"`  // of the frame, without query
	Page    string  `json:"page"` // JSON, as a snapshot of a trace has it
	// Failed are requests of the page in this try that were answered with 400 to 499, by their
	// template; Uncaught errors that nothing caught.
	Failed   []FailedCall `json:"failed,omitempty"`
	Uncaught int          `json:"uncaught,omitempty"`
}

// Frame is a place in the tests' source with the function that it is in.
type Frame struct {
	Location
	Function string `json:"function,omitempty"`
}

// Place is a place within a function.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// FailedCall is a request that failed.
type FailedCall struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Status int    `json:"status"`
}

// Found answers an Ask.
type Found struct {
	Locator string `json:"locator"` // "" where it is not known surely enough
	Before  string `json:"before"`  // the locator that it stands for
	Why     string `json:"why"`
}

// Recovered is a step that was taken with another locator than the one that is written.
type Recovered struct {
	Method string `json:"method"`
	Before string `json:"before"`
	After  string `json:"after"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Why    string `json:"why"`
}
