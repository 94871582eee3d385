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
	s, err := a.sources(place{profile: profile})
	if err != nil {
		return nil, err
	}
	return config.Load(s)
}
