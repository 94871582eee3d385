package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/kernelspec"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Exit statuses; docs/exit-status.md explains them.
const (
	statusFailed       = 1
	statusUsage        = 2
	statusRefused      = 3
	statusNoSuch       = 4
	statusBusy         = 5
	statusTimedOut     = 124
	statusCannotLaunch = 125
	statusNotRunnable  = 126
	statusNotFound     = 127
)

// explained is an error as users and tools get it. Codes are only ever added.
type explained struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`

	status int
}

// usageError is a command line that cannot be understood.
type usageError struct {
	text string
	cmd  *cobra.Command
	line string // the one that was probably meant, or empty
}

func (e *usageError) Error() string { return e.text }

func usage(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...), cmd: cmd}
}

// refusedError is something that was not approved.
type refusedError struct{ what, remedy string }

func (e *refusedError) Error() string { return e.what }

// noKernelError is an id without a running kernel.
type noKernelError struct{ id string }

func (e *noKernelError) Error() string { return fmt.Sprintf("no running kernel %q", e.id) }

// explain finds what kind of error it is. The libraries say facts; the next step is said here.
func explain(err error) explained {
	x := explained{Code: "failed", Message: err.Error(), status: statusFailed}
	for _, kind := range []func(error, *explained) bool{ofUsage, ofPackages, ofEnvironment, ofEdit, ofPolicy, ofSandbox, ofConnection, ofSpec} {
		if kind(err, &x) {
			break
		}
	}
	return x
}

func (x *explained) set(code string, status int, remedy string, args ...any) bool {
	x.Code, x.status, x.Remedy = code, status, fmt.Sprintf(remedy, args...)
	return true
}

// as is errors.As for use in a condition.
func as[T error](err error, target *T) bool { return errors.As(err, target) }

func ofUsage(err error, x *explained) bool {
	var u *usageError
	var refused *refusedError
	var kernel *noKernelError
	switch {
	case as(err, &u):
		return x.set("usage", statusUsage, "%s", cmp.Or(u.line, u.cmd.CommandPath()+" --help"))
	case as(err, &refused):
		return x.set("refused", statusRefused, "%s", refused.remedy)
	case as(err, &kernel):
		return x.set("no-kernel", statusNoSuch, "kernel-launch kernel list")
	case errors.Is(err, launcher.ErrEnded):
		return x.set("no-kernel", statusNoSuch, "kernel-launch kernel list")
	case strings.HasPrefix(err.Error(), "unknown command "): // cobra has no type for it
		return x.set("usage", statusUsage, "kernel-launch --help")
	}
	return false
}

func ofEnvironment(err error, x *explained) bool {
	var name *envs.NameError
	var language *envs.LanguageError
	var missing *envs.NotFoundError
	var taken *envs.ExistsError
	var busy *envs.BusyError
	var broken *envs.BrokenError
	var interpreter *envs.InterpreterError
	var kernel *envs.NoKernelError
	switch {
	case as(err, &name):
		return x.set("name", statusUsage, "use letters, digits, dots, dashes and underscores, at most 64, the first a letter or digit")
	case as(err, &language):
		return x.set("language", statusUsage, "kernel-launch env create NAME --language python")
	case as(err, &missing):
		return x.set("no-environment", statusNoSuch, "kernel-launch env create %s", missing.Name)
	case as(err, &taken):
		return x.set("exists", statusFailed, "kernel-launch env show %s", taken.Name)
	case as(err, &busy):
		return x.set("busy", statusBusy, "kernel-launch kernel list")
	case as(err, &broken):
		return x.set("broken-environment", statusFailed, "kernel-launch env remove %s --yes && kernel-launch env create %s", broken.Name, broken.Name)
	case as(err, &kernel):
		return x.set("no-kernel-package", statusFailed, "%s", kernelPackageRemedy(kernel))
	case as(err, &interpreter):
		return x.set("no-interpreter", statusFailed, "kernel-launch env create NAME --python /path/to/interpreter")
	}
	return false
}

func ofPackages(err error, x *explained) bool {
	var requirement *envs.RequirementError
	var changed *envs.ChangedError
	var expired *envs.ExpiredError
	var plan *envs.PlanError
	var resolve *envs.ResolveError
	var uv *envs.NoUVError
	var index *envs.IndexError
	var upstream *envs.UpstreamError
	switch {
	case as(err, &requirement):
		return x.set("requirement", statusUsage, "kernel-launch install 'NAME>=VERSION'")
	case as(err, &changed):
		return x.set("changed", statusFailed, "kernel-launch install --env %s --dry-run …, and approve the new plan", changed.Name)
	case as(err, &expired), as(err, &plan):
		return x.set("plan", statusFailed, "kernel-launch install --dry-run …")
	case as(err, &upstream) && upstream.Status == 401:
		return x.set("index-login", statusFailed, "give install.index a user and password, or put them into ~/.netrc")
	case as(err, &resolve):
		return x.set("resolve", statusFailed, "%s", resolveRemedy(resolve))
	case as(err, &uv):
		return x.set("no-uv", statusFailed, "set install.uv in config.yaml to auto or to the path of uv 0.9 or newer")
	case as(err, &index):
		return x.set("index", statusFailed, "correct it in %s", index.Source)
	}
	return false
}

func resolveRemedy(e *envs.ResolveError) string {
	if strings.Contains(e.Text, "wheel") {
		return "kernel-launch install --allow-source …"
	}
	return "check the name and version, or ask for other versions"
}

func kernelPackageRemedy(e *envs.NoKernelError) string {
	if e.Package == "IRkernel" {
		return "install IRkernel for that R (Debian and Ubuntu: apt install r-cran-irkernel)"
	}
	return "install " + e.Package + " for that interpreter, or let it reach a package index (install.index in config.yaml)"
}

func ofPolicy(err error, x *explained) bool {
	var fault *config.FaultError
	var insecure *config.InsecureError
	var ceiling *config.CeilingError
	var profile *config.ProfileError
	switch {
	case as(err, &insecure):
		if strings.HasSuffix(insecure.Reason, "not to root") {
			return x.set("configuration", statusFailed, "chown root %s", insecure.Path)
		}
		if strings.HasPrefix(insecure.Reason, "belongs to") {
			return x.set("configuration", statusFailed, "chown \"$USER\" %s", insecure.Path)
		}
		return x.set("configuration", statusFailed, "chmod go-w %s", insecure.Path)
	case as(err, &ceiling):
		return x.set("configuration", statusFailed, "ask the administrator of this machine")
	case as(err, &profile):
		return x.set("configuration", statusFailed, "name one of the profiles in config.yaml, or leave --profile out")
	case as(err, &fault):
		if fault.File == "" {
			return x.set("usage", statusUsage, "kernel-launch --help")
		}
		return x.set("configuration", statusFailed, "edit %s, line %d", fault.File, fault.Line)
	}
	return false
}

func ofSandbox(err error, x *explained) bool {
	var unavailable *sandbox.UnavailableError
	var path *sandbox.PathError
	var unsupported *sandbox.UnsupportedError
	var program *launcher.ProgramError
	switch {
	case as(err, &unavailable):
		return x.set("sandbox-"+unavailable.Cause, statusFailed, "%s", unavailable.Remedy)
	case as(err, &path):
		if path.Broad {
			return x.set("folder-too-broad", statusFailed, "%s", narrower(path))
		}
		if strings.Contains(path.Reason, "on PATH") {
			return x.set("path", statusFailed, "start Jupyter from an environment that is not in the notebook's folder, or with that folder not on PATH")
		}
		return x.set("path", statusFailed, "kernel-launch sandbox show")
	case as(err, &unsupported):
		if strings.HasPrefix(unsupported.Reason, "cannot be held") {
			return x.set("unsupported", statusFailed, "leave %s out, or set limits.best_effort: true", unsupported.Key)
		}
		return x.set("unsupported", statusFailed, "leave %s out", unsupported.Key)
	case as(err, &program):
		return x.set("program", program.Status, "")
	}
	return false
}

// narrower is what to do instead of showing too much.
func narrower(path *sandbox.PathError) string {
	switch path.Use {
	case "read", "write":
		return fmt.Sprintf("name what is needed in it: --%s %s", path.Use, filepath.Join(path.Path, "FOLDER"))
	case "interpreter":
		return "install it in a folder of its own, and kernel-launch env create NAME --python PATH"
	}
	return fmt.Sprintf("mkdir -p %s && cd %s", broadExample, broadExample)
}

// broadExample is a folder as people have one: the remedy must be a line that can be pasted.
const broadExample = "~/notebooks"

func ofConnection(err error, x *explained) bool {
	var port *launcher.PortTakenError
	var opening *launcher.PortError
	var file *jupyter.FaultError
	switch {
	case as(err, &port):
		return x.set("port-taken", statusFailed, "start the kernel again: Jupyter chooses new ports")
	case as(err, &opening):
		return ofPort(opening, x)
	case as(err, &file):
		return x.set("connection-file", statusFailed, "start the kernel from Jupyter, which writes the file")
	}
	return false
}

func ofSpec(err error, x *explained) bool {
	var missing *kernelspec.NotFoundError
	var name *kernelspec.NameError
	var option *kernelspec.OptionError
	var foreign *kernelspec.ForeignError
	switch {
	case as(err, &missing):
		return x.set("no-kernelspec", statusNoSuch, "kernel-launch kernelspec list")
	case as(err, &name), as(err, &option):
		return x.set("name", statusUsage, "kernel-launch kernelspec install --help")
	case as(err, &foreign):
		return x.set("foreign-kernelspec", statusRefused, "kernel-launch kernelspec list, and choose another --name")
	}
	return false
}

func ofPort(err *launcher.PortError, x *explained) bool {
	free := "choose another port"
	if err.Way == launcher.Published {
		free = "give it another number here: --publish OTHER:PORT, or kernel-launch kernel publish ID OTHER:PORT"
	}
	switch err.Cause {
	case launcher.CauseText:
		return x.set("usage", statusUsage, "kernel-launch kernel %s --help", err.Way)
	case launcher.CauseLow:
		return x.set("port", statusRefused, "give it a number from 1024 on")
	case launcher.CauseNetwork:
		return x.set("port", statusRefused, "leave it out, or use --network allowlist")
	case launcher.CauseCeiling:
		return x.set("port", statusRefused, "ask the administrator of this machine")
	case launcher.CauseClosed:
		return x.set("no-port", statusNoSuch, "kernel-launch status")
	}
	return x.set("port-taken", statusFailed, "%s", free)
}
