package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// connectTime is longer than the proxy tries, so that its reason is heard.
const connectTime = 45 * time.Second

func (a *app) connectCommand() *cobra.Command {
	return &cobra.Command{
		Use: "connect HOST PORT", Short: "reach a host through the proxy, as ssh's ProxyCommand",
		Long: "Connects standard input and output with HOST PORT through the proxy that HTTPS_PROXY names, or directly where none does.\n" +
			"It is found inside a sandbox as well:\n  GIT_SSH_COMMAND='ssh -o \"ProxyCommand=kernel-launch connect %h %p\"'",
		Args: arguments("HOST", "PORT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := egress.ParseAuthority(hostPort(args[0], args[1]))
			if err != nil {
				return usage(cmd, "%v", err)
			}
			conn, err := a.reach(cmd.Context(), target)
			if err != nil {
				return err
			}
			defer conn.Close()
			return a.join(conn)
		},
	}
}

// hostPort leaves a host in brackets as it is.
func hostPort(host, port string) string {
	if len(host) > 0 && host[0] == '[' {
		return host + ":" + port
	}
	return net.JoinHostPort(host, port)
}

func (a *app) reach(ctx context.Context, t egress.Target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	front := launcher.Upstream(a.getenv)
	if front == nil {
		return (&net.Dialer{}).DialContext(ctx, "tcp", t.String())
	}
	u, err := front(t)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return (&net.Dialer{}).DialContext(ctx, "tcp", t.String())
	}
	return egress.DialProxy(ctx, u, t.String(), nil)
}

// join copies both ways. The end of the input is passed on and leaves the answer open; the end of the answer is the end.
func (a *app) join(conn net.Conn) error {
	go func() {
		io.Copy(conn, a.in)
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
	}()
	if _, err := io.Copy(a.out, conn); err != nil {
		return fmt.Errorf("the connection broke off: %w", err)
	}
	return nil
}

// onlyOutside keeps a program inside from editing a policy that is nobody's: what it would write is its own, and is thrown away with it.
func onlyOutside(cmd *cobra.Command, _ []string) error {
	self, err := os.Executable()
	if err != nil || self != sandbox.HelperTarget || cmd.Name() == "connect" || cmd.Name() == "version" {
		return nil
	}
	return &refusedError{what: cmd.CommandPath() + " does nothing inside a sandbox: the machine outside is where it is to be said"}
}
