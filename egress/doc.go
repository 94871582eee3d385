// Package egress lets a kernel reach the hosts that its rules name, and no
// other, through a proxy that decides before it looks a name up and screens
// every address before it dials one.
//
// A [Proxy] alone is a whole HTTP proxy: Listen, Serve, Close. Its policy is a
// [Rules], made of what [ParseRule], [Group], [ParsePin] and [ParseInward]
// give, and asked for by a function, so that it can change while connections
// are open. What was decided and how it ended comes as an [Event]; an [Audit]
// writes events to a file, a [LogReader] reads them. The zero value of
// everything is its strict choice: a zero Proxy refuses every host.
package egress
