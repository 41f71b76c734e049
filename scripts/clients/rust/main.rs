//! Makes a transfer with the generated client, repeats it, and reads it back.

use sharedraft::apis::{configuration::Configuration, token_api, transfers_api};
use sharedraft::models::{TokenRequest, Transfer, TransferOrder};
use std::env::var;
use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut configuration = Configuration::new();
    let mut request = TokenRequest::new("client_credentials".to_owned());
    request.client_id = Some(var("CLIENT_ID")?);
    request.client_secret = Some(var("CLIENT_SECRET")?);
    request.scope = Some("transfer:read transfer:write".to_owned());
    let token = token_api::issue_token(&configuration, request).await?;
    configuration.oauth_access_token = Some(token.access_token);

    let amount = var("AMOUNT")?.parse()?;
    let mut order = TransferOrder::new(var("FROM")?, var("TO")?, amount);
    order.id = Some(var("TRANSFER_ID")?);
    for _ in 0..2 {
        print(transfers_api::initiate_transfer(&configuration, order.clone(), None, None).await?);
    }
    print(transfers_api::get_transfer(&configuration, &var("TRANSFER_ID")?).await?);
    Ok(())
}

fn print(transfer: Transfer) {
    println!("{} {} {}", transfer.id, transfer.amount, transfer.status);
}
