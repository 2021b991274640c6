module karta-interpreter.io/gojq

go 1.25.10

require github.com/itchyny/gojq v0.12.19

require github.com/itchyny/timefmt-go v0.1.8 // indirect
