import java.math.BigDecimal
import org.openapitools.client.apis.TokenApi
import org.openapitools.client.apis.TransfersApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.models.TokenRequest
import org.openapitools.client.models.Transfer
import org.openapitools.client.models.TransferOrder

/** Makes a transfer with the generated client, repeats it, and reads it back. */
fun main() {
    val token = TokenApi().issueToken(
        TokenRequest(
            grantType = "client_credentials",
            clientId = System.getenv("CLIENT_ID"),
            clientSecret = System.getenv("CLIENT_SECRET"),
            scope = "transfer:read transfer:write",
        ),
    )
    ApiClient.accessToken = token.accessToken

    val transfers = TransfersApi()
    val order = TransferOrder(
        id = System.getenv("TRANSFER_ID"),
        fromAccountId = System.getenv("FROM"),
        toAccountId = System.getenv("TO"),
        amount = BigDecimal(System.getenv("AMOUNT")),
    )
    repeat(2) { print(transfers.initiateTransfer(order)) }
    print(transfers.getTransfer(System.getenv("TRANSFER_ID")))
}

private fun print(transfer: Transfer) {
    println("${transfer.id} ${transfer.amount.toPlainString()} ${transfer.status}")
}
