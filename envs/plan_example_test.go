package envs_test

import (
	"context"
	"fmt"

	"github.com/kernel-launch/kernel-launch/envs"
)

func ExampleCheckRequirements() {
	fmt.Println(envs.CheckRequirements([]string{"numpy>=2", "pandas[excel]"}))
	fmt.Println(envs.CheckRequirements([]string{"numpy", "../x.whl", "--index-url=http://x"}))
	// Output:
	// <nil>
	// package "../x.whl": paths are not taken, only names of packages
	// package "--index-url=http://x": options are not taken, only names of packages
}

func ExampleStore_Prepare() {
	s := &envs.Store{Root: "/no/such/folder"}
	_, err := s.Prepare(context.Background(), "study", envs.Request{Add: []string{"numpy"}})
	fmt.Println(err)
	// Output: no environment "study"
}

func ExamplePlan_Sentences() {
	p := envs.Plan{Unchanged: true, Request: envs.Request{Add: []string{"numpy"}}}
	fmt.Println(p.Sentences()[0])
	// Output: All of it is there already: numpy.
}

func ExampleStore_LoadPlan() {
	_, err := (&envs.Store{}).LoadPlan("/no/such/folder", "0123abcd")
	fmt.Println(err)
	// Output: plan "0123abcd": there is none
}
