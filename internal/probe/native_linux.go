package probe

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"syscall"
)

// native are the attempts that need Linux.
func native() map[string]attempt {
	all := map[string]attempt{}
	for _, m := range []map[string]attempt{processes, calls, namespaces, objects, terminals, lives} {
		maps.Copy(all, m)
	}
	return all
}

// place prepares a child for where its attempt is to be made. The function is called when it has ended.
func place(cmd *exec.Cmd, in Place) (func(), error) {
	switch in {
	case Process:
		return func() {}, nil
	case Terminal:
		return withTerminal(cmd)
	case Namespaces:
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
		}
		return func() {}, nil
	}
	return nil, fmt.Errorf("%q is no place for a probe", in)
}
