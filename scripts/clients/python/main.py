"""Makes a transfer with the generated client, repeats it, and reads it back."""

import os
from decimal import Decimal

import sharedraft

configuration = sharedraft.Configuration()
with sharedraft.ApiClient(configuration) as client:
    token = sharedraft.TokenApi(client).issue_token(
        sharedraft.TokenRequest(
            grant_type="client_credentials",
            client_id=os.environ["CLIENT_ID"],
            client_secret=os.environ["CLIENT_SECRET"],
            scope="transfer:read transfer:write",
        )
    )
    configuration.access_token = token.access_token
    transfers = sharedraft.TransfersApi(client)
    order = sharedraft.TransferOrder(
        id=os.environ["TRANSFER_ID"],
        fromAccountId=os.environ["FROM"],
        toAccountId=os.environ["TO"],
        amount=Decimal(os.environ["AMOUNT"]),
    )
    for _ in range(2):
        made = transfers.initiate_transfer(order)
        print(made.id, made.amount, made.status.value)
    read = transfers.get_transfer(os.environ["TRANSFER_ID"])
    print(read.id, read.amount, read.status.value)
