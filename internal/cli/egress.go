package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/launcher"
)

func (a *app) egressCommand() *cobra.Command {
	return group("egress", "what kernels may reach", a.egressCheck(), a.egressAllow(), a.egressDeny(), a.egressLog())
}

// place is the folder and the environment that a command is about.
type place struct {
	folder     string
	env        string
	profile    string
	everywhere bool
}

func (p *place) bindFolder(c *cobra.Command) {
	c.Flags().StringVar(&p.folder, "folder", "", "the notebook's folder `PATH` instead of the current one")
}

// bind adds the flags of a command that shows what holds at a place.
func (p *place) bind(c *cobra.Command) {
	p.bindFolder(c)
	c.Flags().StringVar(&p.env, "env", "", "managed environment `NAME`; the folder's in config.yaml, else \"default\"")
	c.Flags().StringVar(&p.profile, "profile", "", "profile `NAME` of config.yaml")
}

// policy is what holds at a place, with the files that it was read from.
func (a *app) policy(p place) (config.Sources, *launcher.Config, error) {
	s, err := a.sources(p)
	if err != nil {
		return s, nil, err
	}
	cfg, err := config.Load(s)
	return s, cfg, err
}

// sources are the files of the configuration, as they are read for that place.
func (a *app) sources(p place) (config.Sources, error) {
	d, err := launcher.Dirs(a.getenv)
	if err != nil {
		return config.Sources{}, err
	}
	here, err := os.Getwd()
	if err != nil {
		return config.Sources{}, err
	}
	folder := cmp.Or(p.folder, here)
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(here, folder)
	}
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", folder)
	}
	return launcher.ConfigSources(d, p.env, folder, p.profile), err
}

// config is the policy of the current folder.
func (a *app) config(profile string) (*launcher.Config, error) {
	_, cfg, err := a.policy(place{profile: profile})
	return cfg, err
}
