package cli

import (
	"io"

	"github.com/spf13/cobra"
)

func (a *app) sandboxCommand() *cobra.Command {
	return group("sandbox", "the walls around kernels", a.sandboxShow(), a.sandboxTest())
}

func (a *app) sandboxShow() *cobra.Command {
	var policy policyFlags
	c := &cobra.Command{
		Use: "show", Short: "what a kernel in this folder would see, and what is not enforced", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			spec, err := a.spec(policy)
			if err != nil {
				return err
			}
			plan, err := spec.Plan()
			if err != nil {
				return err
			}
			return a.print(planJSON(plan), func(w io.Writer) { lines(w, plan.Sentences()) })
		},
	}
	policy.bind(c)
	return c
}
