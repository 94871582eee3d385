package launcher

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/jupyter"
)

// Config is the operator's policy; LoadConfig reads it.
type Config = config.Config

// Overrides are what a command line or an embedder adds to the configuration.
type Overrides = config.Overrides

// Spec is what is asked of a launcher. The zero value of every field is the ordinary choice; only Environment is needed.
type Spec struct {
	Environment    string  // name of a managed environment
	ConnectionFile string  // a client's connection file; empty: five free ports and a fresh key, see Kernel.Connection
	Folder         string  // the notebook's folder, which the kernel works in and can write; empty: the current one
	AnyFolder      bool    // a folder too broad to be shown is replaced by an empty private one instead of refused
	Config         *Config // the policy, which the machine's policy.yaml clips; nil: LoadConfig for the folder and Profile
	Profile        string  // of the configuration
	Overrides      Overrides
	Command        []string // run this instead of the environment's kernel, without channels

	Stdout, Stderr io.Writer // what the kernel itself writes to these, by lines and made safe; nil: dropped
	Raw            bool      // what a Command writes reaches Stdout and Stderr as it is and whole, at the pace of whoever takes it
	Stdin          io.Reader // what a Command reads; nil: nothing. A Read that is under way when it ends is not waited for
	Terminal       *Terminal // gives a Command a terminal of its own, whose other end is Stdin and Stdout; see Kernel.Resize
	Helper         string    // path of a kernel-launch binary for the inside; empty: this program, whose main calls RunInner first
	Environ        []string  // K=V, from which the kernel's variables are chosen; nil: os.Environ()

	connection *jupyter.Connection // of a kernel that is restarted on its ports
	shut       []Port              // closed while it ran: a restart does not open them again
}

// host is what a launcher knows about the machine that it runs on.
type host struct {
	goos   string
	dirs   dirs.Dirs
	env    map[string]string
	folder string
	helper string
}

func (s Spec) host() (host, error) {
	h := host{goos: runtime.GOOS, env: map[string]string{}}
	environ := s.Environ
	if environ == nil {
		environ = os.Environ()
	}
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok {
			h.env[k] = v
		}
	}
	var err error
	if h.dirs, err = Dirs(h.getenv); err != nil {
		return h, err
	}
	if h.folder = s.Folder; h.folder == "" {
		if h.folder, err = os.Getwd(); err != nil {
			return h, fmt.Errorf("the current folder: %w", err)
		}
	} else if h.folder, err = filepath.Abs(h.folder); err != nil {
		return h, err
	}
	if h.helper = s.Helper; h.helper == "" {
		if h.helper, err = os.Executable(); err != nil {
			return h, fmt.Errorf("this program's own path: %w", err)
		}
		h.helper = strings.TrimSuffix(h.helper, " (deleted)") // after an upgrade the new one stands there
	}
	return h, nil
}

func (h host) getenv(key string) string { return h.env[key] }

// Dirs says where kernel-launch keeps its files for the user whose variables getenv returns.
func Dirs(getenv func(string) string) (dirs.Dirs, error) {
	if getenv("HOME") == "" && runtime.GOOS != "windows" {
		home, err := os.UserHomeDir()
		if err != nil {
			return dirs.Dirs{}, err
		}
		return dirs.For(runtime.GOOS, func(k string) string {
			if k == "HOME" {
				return home
			}
			return getenv(k)
		})
	}
	return dirs.For(runtime.GOOS, getenv)
}

// machineConfig is the file that the machine's policy.yaml stands beside.
func machineConfig(d dirs.Dirs) string { return filepath.Join(d.Machine, "config.yaml") }

// LoadConfig reads the operator's configuration as it holds for a folder: the machine's file, the user's, the folder's entry, the profile, clipped by the
// machine's policy.yaml. Config.Clips says what that took away.
func LoadConfig(d dirs.Dirs, folder, profile string) (*Config, error) {
	return config.Load(ConfigSources(d, "", folder, profile))
}

// ConfigSources are the files of a user and the machine, and the kernel that they are read for. With no environment it is the one that they name.
func ConfigSources(d dirs.Dirs, environment, folder, profile string) config.Sources {
	return config.Sources{
		Machine: machineConfig(d),
		User:    filepath.Join(d.Config, "config.yaml"),
		Env:     environment, Folder: folder, Profile: profile, Home: d.Home,
	}
}

// DefaultConfig is the built-in policy.
func DefaultConfig() *Config { return config.Default() }

// Store opens the environments of a user. Tools that bring packages in run in the install sandbox; cfg says from which index.
func Store(d dirs.Dirs, cfg *Config, helper string, getenv func(string) string) (*envs.Store, error) {
	s := Environments(d, helper, getenv)
	s.UV = cfg.Install.UV
	var err error
	s.Index, err = envs.FindIndex(envs.IndexSources{Configured: cfg.Install.Index.Secret(), Goos: runtime.GOOS, Getenv: getenv, Home: d.Home})
	return s, err
}

// Environments is Store without a policy: enough to look at environments, and still there when the configuration cannot be read.
func Environments(d dirs.Dirs, helper string, getenv func(string) string) *envs.Store {
	return &envs.Store{
		Root: filepath.Join(d.Data, "envs"), Work: filepath.Join(d.Data, "install"), Cache: d.Cache,
		Getenv: getenv, Exec: toolbox{dirs: d, helper: helper}.run,
	}
}
