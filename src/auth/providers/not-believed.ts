/** Why an assertion, or a provider's token, is not believed; one sentence that its bearer may read. */
export class NotBelieved extends Error {
  override readonly name = 'NotBelieved';
}
