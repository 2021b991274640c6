// Sends requests over TLS keep-alive connections, one after the other on each, and says how long they took.
//
// Reads orders as JSON lines from stdin, answers each with one line on stdout. Requests are cut into writes where
// Karmada's client cuts them: the first has 4096 bytes, the second all others. Each has a uid of its own.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httputil"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	firstWrite = 4096
	patience   = 20 * time.Second
)

var uidField = []byte(`"uid":"`)

const uidLength = 36

// An order opens connections, each with bodies of its own, or has them make so many requests.
type order struct {
	Address     string   `json:"address"`
	Path        string   `json:"path"`
	Bodies      []string `json:"bodies"` // names of files
	Connections int      `json:"connections"`
	Requests    int      `json:"requests"`
	Rate        float64  `json:"rate"`  // requests per second of all connections, 0 for as many as there can be
	Fresh       bool     `json:"fresh"` // each request has a new connection, which is measured
}

type result struct {
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50"` // microseconds
	P99     float64 `json:"p99"`
	Error   string  `json:"error,omitempty"`
}

// A connection has requests of its own, so that it can write uids into them.
type connection struct {
	conn      *tls.Conn
	reader    *bufio.Reader
	body      bytes.Buffer
	requests  []request
	latencies []float64
	last      bool // the server has said that it answers no more on this connection
	err       error
}

type request struct {
	text []byte
	uid  []byte // a part of the text
}

func main() {
	debug.SetGCPercent(1000)
	var open order
	var connections []*connection
	for in := json.NewDecoder(os.Stdin); ; {
		var o order
		if err := in.Decode(&o); err != nil {
			return
		}
		if o.Address == "" {
			open.Requests = o.Requests
			write(run(open, connections))
			continue
		}
		for _, c := range connections {
			c.close()
		}
		open = o
		var err error
		if connections, err = dialAll(o); err != nil {
			write(result{Error: err.Error()})
			continue
		}
		write(result{})
	}
}

func write(r result) {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(text, '\n'))
}

func dialAll(o order) ([]*connection, error) {
	var connections []*connection
	for i := range o.Connections {
		c := &connection{}
		connections = append(connections, c)
		for n, name := range o.Bodies {
			if n%o.Connections != i {
				continue
			}
			body, err := os.ReadFile(name)
			if err != nil {
				return connections, err
			}
			c.requests = append(c.requests, newRequest(o, body))
		}
		if err := c.dial(o.Address); err != nil {
			return connections, err
		}
	}
	return connections, nil
}

// newRequest has the head that Go's client writes for Karmada.
func newRequest(o order, body []byte) request {
	head := fmt.Sprintf("POST %s?timeout=3s HTTP/1.1\r\nHost: %s\r\nUser-Agent: kube-apiserver-admission\r\n"+
		"Content-Length: %d\r\nAccept: application/json, */*\r\nContent-Type: application/json\r\n"+
		"Accept-Encoding: gzip\r\n\r\n", o.Path, o.Address, len(body))
	text := append([]byte(head), body...)
	start := bytes.Index(text, uidField) + len(uidField)
	return request{text, text[start : start+uidLength]}
}

func (c *connection) dial(address string) error {
	// Who answers is known: this measures, and trusts nothing that it hears.
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	if err != nil {
		return err
	}
	c.conn, c.reader, c.last = conn, bufio.NewReaderSize(conn, 32*1024), false
	return nil
}

func (c *connection) close() {
	if c.conn != nil {
		c.conn.Close()
	}
}

func run(o order, connections []*connection) result {
	begun := time.Now()
	each := o.Requests / max(1, len(connections))
	var wait sync.WaitGroup
	for i, c := range connections {
		c.latencies, c.err = c.latencies[:0], nil
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := 0; c.err == nil && n < each; n++ {
				if o.Rate > 0 {
					due := float64(n*len(connections)+i) / o.Rate
					time.Sleep(time.Until(begun.Add(time.Duration(due * float64(time.Second)))))
				}
				c.ask(o, i, n)
			}
		}()
	}
	wait.Wait()
	r := result{Seconds: time.Since(begun).Seconds()}
	var all []float64
	for _, c := range connections {
		all = append(all, c.latencies...)
		if c.err != nil {
			r.Error = c.err.Error()
		}
	}
	if len(all) == 0 {
		return r
	}
	slices.Sort(all)
	r.Count, r.P50, r.P99 = len(all), all[len(all)/2], all[len(all)*99/100]
	return r
}

// ask sends the n-th request of the i-th connection and notes how long that took, or the error.
func (c *connection) ask(o order, i, n int) {
	q := c.requests[(i+n)%len(c.requests)]
	copy(q.uid, fmt.Sprintf("%08x-0000-4000-8000-%012x", i, n))
	asked := time.Now()
	if c.last || o.Fresh {
		c.close()
		if c.err = c.dial(o.Address); c.err != nil {
			return
		}
	}
	if c.err = c.exchange(q); c.err != nil {
		return
	}
	c.latencies = append(c.latencies, float64(time.Since(asked).Nanoseconds())/1000)
}

func (c *connection) exchange(q request) error {
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	first := min(firstWrite, len(q.text))
	for _, part := range [][]byte{q.text[:first], q.text[first:]} {
		if len(part) == 0 {
			continue
		}
		if _, err := c.conn.Write(part); err != nil {
			return err
		}
	}
	if err := c.read(); err != nil {
		return err
	}
	if !bytes.Contains(c.body.Bytes(), []byte(`"successful":true`)) {
		return fmt.Errorf("not a success: %s", c.excerpt())
	}
	if !bytes.Contains(c.body.Bytes(), q.uid) {
		return fmt.Errorf("the answer to another request: %s", c.excerpt())
	}
	return nil
}

// read reads an answer, of which the body is kept. Its processor time is the client's, and should be short.
func (c *connection) read() error {
	length, chunked := int64(0), false
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err != nil {
				return err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("Connection")):
			c.last = bytes.EqualFold(bytes.TrimSpace(value), []byte("close"))
		}
	}
	c.body.Reset()
	if !chunked {
		_, err := io.CopyN(&c.body, c.reader, length)
		return err
	}
	if _, err := c.body.ReadFrom(httputil.NewChunkedReader(c.reader)); err != nil {
		return err
	}
	_, err := c.reader.Discard(len("\r\n")) // there are no trailers
	return err
}

func (c *connection) excerpt() []byte {
	return c.body.Bytes()[:min(c.body.Len(), 600)]
}
