// Package egress lets a kernel reach the hosts that its rules name, and no
// other, through a proxy that decides before it looks a name up and screens
// every address before it dials one.
package egress
