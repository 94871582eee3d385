package envs

import (
	"strings"

	"github.com/kernel-launch/kernel-launch/restart"
)

func (e *Environment) snapshotR(tree string) (restart.Snapshot, error) {
	s := e.emptySnapshot()
	v := view{e: e, tree: tree}
	libraries := e.libraries()
	libraries[0].path = tree
	for _, l := range libraries {
		s.Path = append(s.Path, v.shown(l.path))
	}
	list, err := readLibraries(libraries)
	for _, p := range list {
		// A DESCRIPTION that cannot be read has no facts; the package itself is in the list.
		head, _ := readHeader(p.Info, "built", "packaged", "remotesha", "depends", "imports", "linkingto")
		s.Packages = append(s.Packages, restart.Package{
			Name: p.Name, Version: p.Version, Folder: v.shown(p.Folder), Owner: p.Owner,
			Fingerprint: fingerprintR(head), Modules: []string{p.Name}, Requires: requiresR(head),
		})
	}
	return s, err
}

func requiresR(head map[string]string) (list []string) {
	for _, key := range []string{"depends", "imports", "linkingto"} {
		for one := range strings.SplitSeq(head[key], ",") {
			if one = strings.TrimSpace(one); one != "" {
				list = append(list, one)
			}
		}
	}
	return list
}
