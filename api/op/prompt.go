package op

// Prompt is a way to begin that a person picks in a client: what it then asks of the model.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	// Text is what the model is asked, with {name} for the value of an argument. An
	// argument that was left out has its Missing.
	Text string
}

// PromptArgument is what a person fills in.
type PromptArgument struct {
	Name, Description string
	Missing           string // "" = it is required
}
