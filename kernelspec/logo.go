package kernelspec

import _ "embed"

// The mark: a kernel inside walls with one guarded way out. TestLogos draws it; `go test ./kernelspec -update` writes the files.
var (
	//go:embed logo/logo-64x64.png
	logoPNG []byte
	//go:embed logo/logo-svg.svg
	logoSVG []byte
)
