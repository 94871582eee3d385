// Package inner is the process inside a sandbox: it starts the program, hands sockets out, relays signals, and lets nothing outlive the launcher.
package inner

import "context"

// Word and StubWord are the first arguments of a kernel-launch binary that runs inside. They are no commands: people do not type them.
const (
	Word     = "kernel-launch:inner"
	StubWord = "kernel-launch:stub"
)

// ControlFD is the descriptor at which the inside finds its end of the control socket.
const ControlFD = 3

// Exit statuses of the inside itself, as a shell's.
const (
	exitFailed   = 125
	exitNoExec   = 126
	exitNotFound = 127
)

// Main runs the inside when args ask for it and then does not return. Otherwise it returns at once.
// It must come first in main: nothing of the program around it may run inside.
func Main(ctx context.Context, args []string) {
	if len(args) < 2 {
		return
	}
	switch args[1] {
	case Word:
		exit(run(ctx, args[0]))
	case StubWord:
		exit(stub(args[2:]))
	}
}
