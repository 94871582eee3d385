package envs

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

var tagPages = []string{
	`<a href="x-1.whl">x</a>`,
	`<A HREF='x&amp;y' Data-Yanked data-requires-python="&gt;=3.8, &#60;4&#x2c;">x</a >`,
	`<a href=x>y<a href=/z/>q</a><br/><a/href=w>`,
	`<a href = "spaced" href="twice">`,
	`<a href="x?a=1&copy=2&lt=3&amp;b">`,
	`<!-- <a href="commented"> --><a href="b"><!--><a href="c"><!---><a href="d">`,
	`<!DOCTYPE html><?xml version="1.0"?></a href="ended"><a href="e">`,
	`<script>if (a<b) "<a href=no>"</script ><a href=f><title><a href="title"></titles></title><a href=g>`,
	`1 < 2 <a href="h"> <<a href="i"> <>`,
	`<a href="cut`, `<a href=cut`, `<a href`, `<a`, `<`, ``, `<!--`, `<script><a href="open">`,
	`<a =x y=1 "z">`, "<a\nhref\t=\r\n'newline'\f>", `<a href="">`, `<a href=>x`, `<meta name=pypi:repository-version content=1.3>`,
}

// tagsByHTML is what a full reader of HTML finds.
func tagsByHTML(page string) (found []tag) {
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			n := z.Token()
			t := tag{name: n.Data, attributes: map[string]string{}}
			for _, a := range slices.Backward(n.Attr) { // of two the first counts
				t.attributes[a.Key] = a.Val
			}
			found = append(found, t)
		}
	}
}

func TestTagsAreThoseOfAFullReader(t *testing.T) {
	for _, page := range tagPages {
		want := tagsByHTML(page)
		assert.Equal(t, want, slices.Collect(tags(page)), "%q", page)
	}
	require.Len(t, tagsByHTML(tagPages[5]), 3, "the reader that is compared with sees what is no comment")
}
