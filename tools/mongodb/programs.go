// Package mongodb names the programs that tools/install-mongodb builds, so that go.sum covers them.
package mongodb

import (
	_ "github.com/FerretDB/FerretDB/cmd/ferretdb"
	_ "github.com/mongodb/mongo-tools/mongodump/main"
	_ "github.com/mongodb/mongo-tools/mongorestore/main"
)
