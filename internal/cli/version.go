package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is set by the linker for a release; a build from a checkout says the commit instead.
var Version = ""

func version() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v = "commit " + s.Value[:12]
		}
	}
	return v
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			out := map[string]any{"name": "kernel-launch", "version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
			return a.print(out, func(w io.Writer) {
				fmt.Fprintf(w, "kernel-launch %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			})
		},
	}
}
