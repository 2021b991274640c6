// A webhook that gives one answer to everything and reads no object: what is left is what asking costs.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"path/filepath"
	"strconv"
)

const answer = `{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext","response":` +
	`{"uid":"%s","successful":true,"status":{"code":200},"healthy":true,"replicas":1,` +
	`"components":[{"name":"workload","replicas":1}]}}`

var uidField = []byte(`"uid":"`)

const uidLength = 36

func main() {
	folder := flag.String("cert-dir", "", "where tls.crt and tls.key are")
	address := flag.String("bind-address", "127.0.0.1", "where to listen")
	port := flag.Int("secure-port", 0, "where to listen")
	flag.Parse()
	certificate, err := tls.LoadX509KeyPair(filepath.Join(*folder, "tls.crt"), filepath.Join(*folder, "tls.key"))
	if err != nil {
		log.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}
	listener, err := tls.Listen("tcp", net.JoinHostPort(*address, strconv.Itoa(*port)), config)
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn)
	}
}

// serve answers one request after the other, until one is not understood or there are no more.
func serve(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReaderSize(conn, 64*1024)
	var body, out []byte
	for {
		length := 0
		for {
			line, err := reader.ReadSlice('\n')
			if err != nil {
				return
			}
			line = bytes.TrimSpace(line)
			if len(line) == 0 {
				break
			}
			if name, value, _ := bytes.Cut(line, []byte(": ")); bytes.Equal(name, []byte("Content-Length")) {
				if length, err = strconv.Atoi(string(value)); err != nil {
					return
				}
			}
		}
		if cap(body) < length {
			body = make([]byte, length)
		}
		if _, err := io.ReadFull(reader, body[:length]); err != nil {
			return
		}
		start := bytes.Index(body[:length], uidField) + len(uidField)
		if start < len(uidField) || start+uidLength > length {
			return
		}
		text := fmt.Sprintf(answer, body[start:start+uidLength])
		out = fmt.Appendf(out[:0], "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			len(text), text)
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}
