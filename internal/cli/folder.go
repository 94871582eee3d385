package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
)

func (a *app) folderCommand() *cobra.Command {
	return group("folder", "what kernels of a folder get", a.folderShow(), a.folderSet())
}

// settingJSON is one value of the configuration and where it comes from.
type settingJSON struct {
	Key   string       `json:"key"`
	Value string       `json:"value"`
	Words []string     `json:"words"`
	From  []originJSON `json:"from"` // none: it is built in
}

type originJSON struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

func (a *app) folderShow() *cobra.Command {
	var p place
	c := &cobra.Command{
		Use: "show", Short: "what kernels of this folder get, and which line says so",
		Long: "Prints the configuration as it holds for a kernel in the current folder, each value with the line that it comes from.", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			s, cfg, err := a.policy(p)
			if err != nil {
				return err
			}
			a.sayClips(cfg, "")
			list := folderSettings(cfg, p.env)
			out := items(list)
			out["folder"], out["entry"], out["environment"] = s.Folder, cfg.Folder, list[0].Value
			return a.print(out, func(w io.Writer) { settingTable(w, s.Folder, cfg, list) })
		},
	}
	p.bind(c)
	return c
}

// folderSettings begin with the environment.
func folderSettings(cfg *launcher.Config, asked string) []settingJSON {
	env := config.Setting{Key: "env", Words: []string{cmp.Or(asked, environmentOf(cfg))}}
	if asked == "" {
		env.From = cfg.Origins("env")
	}
	var list []settingJSON
	for _, s := range append([]config.Setting{env}, cfg.Settings()...) {
		j := settingJSON{Key: s.Key, Value: s.String(), Words: some(s.Words), From: []originJSON{}}
		for _, o := range s.From {
			j.From = append(j.From, originJSON{o.File, o.Line})
		}
		list = append(list, j)
	}
	return list
}

func settingTable(w io.Writer, folder string, cfg *launcher.Config, list []settingJSON) {
	fmt.Fprintln(w, plain.Line(folder, 400))
	if cfg.Folder == "" {
		fmt.Fprintln(w, "no entry of folders: holds for it")
	} else {
		fmt.Fprintf(w, "the entry %q of folders: holds for it\n", plain.Line(cfg.Folder, 400))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\n", s.Key, plain.Line(s.Value, 400), origins(s.From))
	}
	t.Flush()
}

func origins(from []originJSON) string {
	if len(from) == 0 {
		return "built in"
	}
	var all []string
	for _, o := range from {
		all = append(all, config.Origin{File: o.File, Line: o.Line}.String())
	}
	return strings.Join(all, ", ")
}

func (a *app) folderSet() *cobra.Command {
	var p place
	var unset bool
	c := &cobra.Command{
		Use: "set KEY [VALUE...]", Short: "change what kernels of this folder get",
		Long: `Writes a key of this folder's entry in config.yaml and keeps the file's comments. KEY is a name of docs/config.example.yaml, or the end of one:
  kernel-launch folder set env study
  kernel-launch folder set network none
  kernel-launch folder set read ~/data ../shared
  kernel-launch folder set limits.memory 4GiB
  kernel-launch folder set pin .lab.test=127.0.0.1:8080
A list is replaced by the values that are given. With --unset the key goes, and what holds for every folder holds here again.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(cmd, "KEY is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := config.Key(args[0])
			if err != nil {
				return usage(cmd, "%v", err)
			}
			s, err := a.sources(p)
			if err != nil {
				return err
			}
			change := config.Set(key, args[1:]...)
			if unset {
				change = config.Unset(key, args[1:]...)
			}
			e, err := a.edit(cmd.Context(), s, change)
			if err != nil {
				return err
			}
			return a.folderEdited(key, e)
		},
	}
	p.bindFolder(c)
	c.Flags().BoolVar(&unset, "unset", false, "take the key out of the folder's entry")
	return c
}

func (a *app) folderEdited(key string, e *config.Edited) error {
	a.sayClips(e.After, key)
	shown := map[string]string{"egress.allow_also": "egress.allow"}
	now := settingJSON{Key: key}
	for _, s := range folderSettings(e.After, "") {
		if s.Key == cmp.Or(shown[key], key) {
			now = s
		}
	}
	out := map[string]any{"file": e.File, "changed": e.Changed, "place": e.Place, "key": key, "value": now.Value, "words": some(now.Words)}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "%s in %s and below: %s\n", now.Key, plain.Line(e.Place, 400), plain.Line(cmp.Or(now.Value, "as it is built in"), 1000))
		switch {
		case !e.Changed:
			fmt.Fprintln(w, "nothing had to be changed")
		case key == "sandbox.forward" || key == "sandbox.publish":
			fmt.Fprintln(w, "kernels that run follow within a second or two; what is taken out ends what is connected through it")
		case strings.HasPrefix(key, "egress."):
			fmt.Fprintln(w, "kernels that run follow the rules with their next connection; what is not a rule holds for kernels that are started from now on")
		default:
			fmt.Fprintln(w, "it holds for kernels that are started from now on")
		}
	})
}
