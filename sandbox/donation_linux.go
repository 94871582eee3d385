package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// donation owns what is handed to bwrap for its own use: the options, the data of files, the files to copy, the end of
// the info pipe. bwrap closes each after use, so none reaches the command inside, but for what the pipe is kept whole by.
type donation struct {
	first int
	files []*os.File
	pins  []*pinned // what must stand where it is mounted
	gate  *gate     // holds an option back; nil without limits
}

func (d *donation) give(f *os.File) string {
	d.files = append(d.files, f)
	return strconv.Itoa(d.first + len(d.files) - 1)
}

func (d *donation) close() {
	for _, f := range d.files {
		f.Close()
	}
	for _, p := range d.pins {
		p.file.Close()
	}
}

// fill prepares every descriptor and returns the reading end of the info pipe and the number of the options' descriptor.
func (d *donation) fill(plan *Plan, endsItself bool) (info *os.File, argsFD string, err error) {
	var faults []error
	d.pinGrants(plan, &faults)
	byDescriptor := false
	for _, m := range plan.Mounts {
		if m.Island {
			byDescriptor = bindsDescriptors(plan.Program)
			break
		}
	}
	options := arguments(plan, func(m Mount) string {
		if m.Island {
			return d.island(m, byDescriptor, &faults)
		}
		f, err := content(m)
		if err != nil {
			faults = append(faults, err)
		}
		if f == nil {
			return ""
		}
		return d.give(f)
	})
	if err := errors.Join(faults...); err != nil {
		return nil, "", err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	options = append(options, "--info-fd", d.give(w))
	if options, err = d.filter(plan.Filter, options); err != nil {
		return nil, "", errors.Join(err, r.Close())
	}
	if !endsItself {
		options = append(options, "--die-with-parent")
	} else if err := d.keepWhole(r); err != nil {
		return nil, "", errors.Join(err, r.Close())
	}
	args, err := memory("options", []byte(strings.Join(d.gate.rest(options), "\x00")))
	if err != nil {
		return nil, "", errors.Join(err, r.Close())
	}
	return r, d.give(args), nil
}

// keepWhole lets bwrap hold the reading end of the info pipe as well. Where only the launcher has it, and is killed, bwrap dies of writing to it, which is
// before its go-ahead to the child: that one waits for ever. A command that ends itself keeps what it inherits from the programs that it starts.
func (d *donation) keepWhole(info *os.File) error {
	raw, err := info.SyscallConn()
	if err != nil {
		return err
	}
	var other *os.File
	if controlled := raw.Control(func(fd uintptr) { // opened anew, not copied: a copy shares whether reading it blocks
		other, err = os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(fd)), os.O_RDONLY, 0)
	}); controlled != nil || err != nil {
		return errors.Join(controlled, err)
	}
	d.give(other)
	return nil
}

// filter gives the program that the kernel asks about every system call of the command.
func (d *donation) filter(f *Filter, options []string) ([]string, error) {
	if f == nil {
		return options, nil
	}
	program, err := f.encoded(runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	file, err := memory("filter", program)
	if err != nil {
		return nil, err
	}
	return append(options, "--seccomp", d.give(file)), nil
}

// island pins an island and gives it away by its descriptor where bwrap takes one. Where it does not, the inside finds out what was mounted.
func (d *donation) island(m Mount, byDescriptor bool, faults *[]error) string {
	p, err := pin(m)
	if err != nil {
		*faults = append(*faults, err)
		return ""
	}
	d.pins = append(d.pins, p)
	if byDescriptor {
		return d.give(p.file)
	}
	return ""
}

// pinGrants notes what each grant is now: a kernel that works in a folder around it could exchange a part of its path for a link before bwrap gets there.
func (d *donation) pinGrants(plan *Plan, faults *[]error) {
	for _, m := range plan.Mounts {
		if !m.Pinned {
			continue
		}
		p, err := pin(m)
		if err != nil {
			*faults = append(*faults, err)
			continue
		}
		d.pins = append(d.pins, p)
	}
}

// islands are what was pinned, for whoever looks from inside.
func (d *donation) islands() []Island {
	out := make([]Island, len(d.pins))
	for i, p := range d.pins {
		out[i] = p.Island
	}
	return out
}

// content is the file that bwrap reads a mount from, nil for an optional one that cannot be had.
func content(m Mount) (*os.File, error) {
	if m.Kind != MountCopy {
		return memory("data", m.Data)
	}
	f, err := openRegular(m.Source)
	if err == nil {
		return f, nil
	}
	if m.Optional && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
		return nil, nil
	}
	return nil, fmt.Errorf("copying %s to %s: %w", quoted(m.Source), quoted(m.Target), err)
}

// openRegular opens for reading what must be a regular file. What became a pipe since the plan was made must not hold up the start.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file any more")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// memory is a file without a name, positioned at its beginning.
func memory(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("kernel-launch-"+name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory file for %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.WriteAt(data, 0); err != nil { // which leaves the position alone
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
