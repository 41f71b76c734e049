import java.math.BigDecimal;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.TokenApi;
import org.openapitools.client.api.TransfersApi;
import org.openapitools.client.model.TokenRequest;
import org.openapitools.client.model.Transfer;
import org.openapitools.client.model.TransferOrder;

/** Makes a transfer with the generated client, repeats it, and reads it back. */
public class Main {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    TokenRequest request = new TokenRequest()
        .grantType("client_credentials")
        .clientId(System.getenv("CLIENT_ID"))
        .clientSecret(System.getenv("CLIENT_SECRET"))
        .scope("transfer:read transfer:write");
    client.setAccessToken(new TokenApi(client).issueToken(request).getAccessToken());

    TransfersApi transfers = new TransfersApi(client);
    TransferOrder order = new TransferOrder()
        .id(System.getenv("TRANSFER_ID"))
        .fromAccountId(System.getenv("FROM"))
        .toAccountId(System.getenv("TO"))
        .amount(new BigDecimal(System.getenv("AMOUNT")));
    for (int time = 0; time < 2; time += 1) print(transfers.initiateTransfer(order, null, null));
    print(transfers.getTransfer(System.getenv("TRANSFER_ID")));
  }

  private static void print(Transfer transfer) {
    System.out.println(transfer.getId() + " " + transfer.getAmount().toPlainString() + " " + transfer.getStatus());
  }
}
