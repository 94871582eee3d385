package sandbox

// Default is the backend of this platform.
func Default() Backend { return &Bubblewrap{} }
