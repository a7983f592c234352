module kindsight.dev/tests/suites

go 1.26.0
