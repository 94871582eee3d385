package launcher

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// mark tells one state of a file from another. The change time is in it: a program can set the other times back.
type mark struct {
	mode            fs.FileMode
	size            int64
	modified, inode uint64
	changed         int64
	content         uint64 // of a folder, one level deep
}

// notes are what stood at the top of the folders that a kernel can write.
type notes map[string]folderNotes

type folderNotes struct {
	obeyed  map[string]mark
	folders map[string]bool // all of them, the others too
	sealed  map[string]bool // paths of what the kernel could not change
}

// wanted finds who obeys a name.
func wanted(name string) (obeyed, bool) {
	for _, o := range obeyedNames {
		for _, pattern := range o.names {
			if ok, _ := path.Match(pattern, name); ok {
				return o, true
			}
		}
	}
	return obeyed{}, false
}

// maxReported bounds what is said about one end.
const maxReported = 12

// changes says what is new or different, and who acts on it. Whoever did it: others may have worked in the folder, too.
func changes(before, after notes) []string {
	var out []string
	for folder, now := range after {
		for name, m := range now.obeyed {
			o, _ := wanted(name)
			was, there := before[folder].obeyed[name]
			what := "is new"
			switch {
			case there && was == m:
				continue
			case there:
				what = "was changed"
			}
			out = append(out, fmt.Sprintf("%s %s since the kernel was started, and %s", plain.Line(filepath.Join(folder, name), 400), what, o.by))
		}
	}
	slices.Sort(out)
	if more := len(out) - maxReported; more > 0 {
		out = append(out[:maxReported], fmt.Sprintf("%d more files that other programs obey were changed there", more))
	}
	return out
}

// appeared are folders that were not there before.
func appeared(before, after notes) []string {
	var out []string
	for folder, now := range after {
		for name := range now.folders {
			if !before[folder].folders[name] {
				out = append(out, filepath.Join(folder, name))
			}
		}
	}
	slices.Sort(out)
	return out
}

// LinksLine is the line of the configuration that lets programs in a folder make links.
func LinksLine(folder string) string {
	return fmt.Sprintf("folders: {%q: {sandbox: {links: allow}}}", folder)
}

// unfinished explains what was left behind by programs that could not make a link.
func unfinished(remnants []string, folder string) []string {
	if len(remnants) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: new links are refused in the notebook's folder; to allow them there, put into config.yaml: %s", strings.Join(remnants, "; "), LinksLine(folder))}
}
