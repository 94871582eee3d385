package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
	"time"
)

// Row is one figure and what it is held against.
type Row struct {
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	Value  float64 `json:"value"`            // median
	Low    float64 `json:"low"`              // first quartile
	High   float64 `json:"high"`             // third quartile
	Peer   float64 `json:"peer,omitempty"`   // median of the peer, in the same unit
	Ratio  float64 `json:"ratio,omitempty"`  // median of the pairs' ratios
	Best   float64 `json:"best,omitempty"`   // the smallest value against the peer's smallest, or the largest where more is better: what other load disturbs least
	Less   float64 `json:"less,omitempty"`   // median of the pairs' differences
	More   bool    `json:"more,omitempty"`   // more is better
	Bar    float64 `json:"bar,omitempty"`    // what Ratio, Less or Value may be at most, or has to be at least where more is better, by Held
	Held   string  `json:"held,omitempty"`   // "ratio", "less" or "value"
	Number int     `json:"number,omitempty"` // of measurements
}

// Report is one run.
type Report struct {
	Started   string            `json:"started"`
	Machine   map[string]string `json:"machine"`
	LoadAfter string            `json:"load_after"`
	Rows      []Row             `json:"rows"`
}

func stamp() string { return time.Now().UTC().Format(time.RFC3339) }

// alone is a row without a peer.
func alone(what, unit string, values []float64) Row {
	return Row{What: what, Unit: unit, Value: quantile(values, 0.5), Low: quantile(values, 0.25), High: quantile(values, 0.75), Number: len(values)}
}

// against is a row with a peer: values[i] and peer[i] were measured next to each other.
func against(what, unit string, values, peer []float64) Row {
	r := alone(what, unit, values)
	r.Peer = quantile(peer, 0.5)
	var ratios, less []float64
	for i := range min(len(values), len(peer)) {
		ratios = append(ratios, values[i]/peer[i])
		less = append(less, values[i]-peer[i])
	}
	r.Ratio, r.Less = quantile(ratios, 0.5), quantile(less, 0.5)
	r.Best = quantile(values, 0) / quantile(peer, 0)
	return r
}

// more is a row with a peer in which more is better.
func more(what, unit string, values, peer []float64) Row {
	r := against(what, unit, values, peer)
	r.More, r.Best = true, quantile(values, 1)/quantile(peer, 1)
	return r
}

func (r Row) bar(held string, limit float64) Row {
	r.Held, r.Bar = held, limit
	return r
}

// verdict is empty for a row without a bar.
func (r Row) verdict() string {
	v := map[string]float64{"ratio": r.Ratio, "less": r.Less, "value": r.Value}[r.Held]
	switch {
	case r.Held == "":
		return ""
	case math.IsNaN(v):
		return "not measured"
	case v == r.Bar, v > r.Bar == r.More:
		return "holds"
	}
	return "MISSED"
}

func (r Row) sign() string {
	if r.More {
		return "≥"
	}
	return "≤"
}

func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	at := q * float64(len(s)-1)
	low := int(at)
	high := min(low+1, len(s)-1)
	return s[low] + (s[high]-s[low])*(at-float64(low))
}

func (r Report) print(w io.Writer) {
	for _, k := range slices.Sorted(maps.Keys(r.Machine)) {
		fmt.Fprintf(w, "%s: %s\n", k, r.Machine[k])
	}
	fmt.Fprintf(w, "load at the end: %s\n\n", r.LoadAfter)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tmedian\tquartiles\tpeer\tratio\tbest\tdifference\tbar\t")
	for _, row := range r.Rows {
		peer, ratio, best, less, bar := "", "", "", "", ""
		if row.Peer != 0 {
			peer, ratio, best, less = number(row.Peer), fmt.Sprintf("%.3f", row.Ratio), fmt.Sprintf("%.3f", row.Best), number(row.Less)
		}
		if row.Held != "" {
			bar = fmt.Sprintf("%s %s %s: %s", row.Held, row.sign(), number(row.Bar), row.verdict())
		}
		fmt.Fprintf(t, "%s\t%s %s\t%s–%s\t%s\t%s\t%s\t%s\t%s\t\n", row.What, number(row.Value), row.Unit, number(row.Low), number(row.High), peer, ratio, best, less, bar)
	}
	t.Flush()
}

func number(v float64) string {
	if a := math.Abs(v); a >= 100 {
		return fmt.Sprintf("%.0f", v)
	} else if a >= 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
