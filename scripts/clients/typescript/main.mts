// Makes a transfer with the generated client, repeats it, and reads it back.
import { Configuration, TokenApi, type Transfer, TransfersApi } from './client/index.js';

const { CLIENT_ID = '', CLIENT_SECRET = '', FROM = '', TO = '', AMOUNT = '', TRANSFER_ID = '' } = process.env;
const token = await new TokenApi().issueToken({
  tokenRequest: {
    grantType: 'client_credentials',
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    scope: 'transfer:read transfer:write',
  },
});
// The generator sends the token of an OAuth scheme as it is.
const accessToken = `Bearer ${token.accessToken}`;
const transfers = new TransfersApi(new Configuration({ accessToken }));
const transferOrder = { id: TRANSFER_ID, fromAccountId: FROM, toAccountId: TO, amount: Number(AMOUNT) };
for (let time = 0; time < 2; time += 1) print(await transfers.initiateTransfer({ transferOrder }));
print(await transfers.getTransfer({ id: TRANSFER_ID }));

function print(transfer: Transfer): void {
  console.log(transfer.id, String(transfer.amount), transfer.status);
}
