module tas-service

go 1.26
