package kernelspec

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the logo files as they are drawn here")

// The mark in units of a 64 by 64 square.
const (
	wallFrom, wallTo, wallRound, wallWidth = 5.0, 59.0, 15.0, 6.0
	doorFrom, doorTo                       = 25.0, 39.0
	dotX, dotY, dotR                       = 27.0, 32.0, 11.5
	arrowX, arrowTip, arrowHalf            = 46.0, 60.0, 7.0
)

var (
	ink   = color.NRGBA{0x2f, 0x6d, 0xb5, 0xff}
	amber = color.NRGBA{0xe8, 0x8a, 0x1a, 0xff}
)

// at returns what the mark has at a point: nothing, ink or amber.
func at(x, y float64) (color.NRGBA, bool) {
	if math.Hypot(x-dotX, y-dotY) <= dotR {
		return amber, true
	}
	if half := arrowHalf * (arrowTip - x) / (arrowTip - arrowX); x >= arrowX && math.Abs(y-32) <= half {
		return amber, true
	}
	if x > 48 && y > doorFrom-2 && y < doorTo+2 {
		return color.NRGBA{}, false
	}
	d := roundedDistance(x, y)
	return ink, d <= 0 && d >= -wallWidth
}

// roundedDistance is negative inside of the rounded square.
func roundedDistance(x, y float64) float64 {
	half := (wallTo - wallFrom) / 2
	qx, qy := math.Abs(x-32)-half+wallRound, math.Abs(y-32)-half+wallRound
	return math.Hypot(max(qx, 0), max(qy, 0)) + min(max(qx, qy), 0) - wallRound
}

func drawPNG(t *testing.T) []byte {
	t.Helper()
	const size, fine = 64, 8
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for i := range size * size {
		img.SetNRGBA(i%size, i/size, pixel(float64(i%size), float64(i/size), fine))
	}
	var b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img))
	return b.Bytes()
}

func pixel(x, y float64, fine int) color.NRGBA {
	var r, g, b, n int
	for i := range fine * fine {
		c, ok := at(x+(float64(i%fine)+.5)/float64(fine), y+(float64(i/fine)+.5)/float64(fine))
		if ok {
			r, g, b, n = r+int(c.R), g+int(c.G), b+int(c.B), n+1
		}
	}
	if n == 0 {
		return color.NRGBA{}
	}
	return color.NRGBA{uint8(r / n), uint8(g / n), uint8(b / n), uint8(255 * n / (fine * fine))}
}

func drawSVG() []byte {
	in := wallFrom + wallWidth/2
	r := wallRound - wallWidth/2
	out := wallTo - wallWidth/2
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
 <path d="M%g %gV%ga%g %g 0 0 0-%g-%gH%ga%g %g 0 0 0-%g %gV%ga%g %g 0 0 0 %g %gH%ga%g %g 0 0 0 %g-%gV%g" fill="none" stroke="#%02x%02x%02x" stroke-width="%g"/>
 <circle cx="%g" cy="%g" r="%g" fill="#%02x%02x%02x"/>
 <path d="M%g %gL%g 32L%g %gZ" fill="#%02x%02x%02x"/>
</svg>
`, out, doorFrom-2, in+r, r, r, r, r, in+r, r, r, r, r, out-r, r, r, r, r, out-r, r, r, r, r, doorTo+2, ink.R, ink.G, ink.B, wallWidth,
		dotX, dotY, dotR, amber.R, amber.G, amber.B,
		arrowX, 32-arrowHalf, arrowTip, arrowX, 32+arrowHalf, amber.R, amber.G, amber.B)
}

func TestLogos(t *testing.T) {
	drawn, svg := drawPNG(t), drawSVG()
	if *update {
		require.NoError(t, os.WriteFile("logo/logo-64x64.png", drawn, 0o644))
		require.NoError(t, os.WriteFile("logo/logo-svg.svg", svg, 0o644))
		return
	}
	want, err := png.Decode(bytes.NewReader(drawn))
	require.NoError(t, err)
	got, err := png.Decode(bytes.NewReader(logoPNG))
	require.NoError(t, err)
	assert.Equal(t, want, got, "logo-64x64.png is not what is drawn here")
	assert.Equal(t, string(svg), string(logoSVG))
}
