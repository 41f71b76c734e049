// Makes a transfer with the generated client, repeats it, and reads it back.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"clients/sharedraft"

	"golang.org/x/oauth2/clientcredentials"
)

func main() {
	configuration := sharedraft.NewConfiguration()
	server, err := configuration.ServerURL(0, nil)
	check(err)
	credentials := clientcredentials.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		TokenURL:     server + "/auth/v2/token",
		Scopes:       []string{"transfer:read", "transfer:write"},
	}
	configuration.HTTPClient = credentials.Client(context.Background())
	transfers := sharedraft.NewAPIClient(configuration).TransfersAPI

	order := sharedraft.NewTransferOrder(os.Getenv("FROM"), os.Getenv("TO"), json.Number(os.Getenv("AMOUNT")))
	order.SetId(os.Getenv("TRANSFER_ID"))
	for range 2 {
		made, _, err := transfers.InitiateTransfer(context.Background()).TransferOrder(*order).Execute()
		check(err)
		fmt.Println(made.Id, made.Amount, made.Status)
	}
	read, _, err := transfers.GetTransfer(context.Background(), os.Getenv("TRANSFER_ID")).Execute()
	check(err)
	fmt.Println(read.Id, read.Amount, read.Status)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
