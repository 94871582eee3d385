package egress

import (
	"slices"
	"strings"
)

// metadataNames are what clouds call the addresses where they hand out the
// machine's credentials. The screen knows those addresses; the names are
// refused beside it, because a proxy in front resolves them on a machine of
// its own.
var metadataNames = []string{
	"metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.azure.internal", "metadata.tencentyun.com",
}

func isMetadata(name string) bool {
	return slices.ContainsFunc(metadataNames, func(m string) bool { return name == m || strings.HasSuffix(name, "."+m) })
}
