// Passkeys on the sign-in pages. A form with `data-ceremony` carries the options of its ceremony; its answer goes into the field `credential`,
// and the form is sent as any other. Without this module, or in a browser without passkeys, the form stays hidden.

const form = document.querySelector<HTMLFormElement>('form[data-ceremony]');

if (form !== null && 'parseCreationOptionsFromJSON' in (globalThis.PublicKeyCredential ?? {})) {
  form.hidden = false;
  if (form.dataset.ceremony === 'create') enroll(form);
  else signIn(form);
}

function enroll(form: HTMLFormElement): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(optionsOf(form));
    void finish(form, navigator.credentials.create({ publicKey }));
  });
}

/** Offers passkeys among the suggestions for the username (conditional mediation), and behind the button. */
function signIn(form: HTMLFormElement): void {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(optionsOf(form));
  let waiting = new AbortController();
  const ask = (mediation: CredentialMediationRequirement) =>
    finish(form, navigator.credentials.get({ publicKey, mediation, signal: waiting.signal }));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // A browser runs one ceremony at a time.
    waiting.abort();
    waiting = new AbortController();
    void ask('required');
  });
  void suggest();
  async function suggest(): Promise<void> {
    if (await PublicKeyCredential.isConditionalMediationAvailable?.()) await ask('conditional');
  }
}

async function finish(form: HTMLFormElement, ceremony: Promise<Credential | null>): Promise<void> {
  // A refusal of the member or of the device leaves the page as it is, for another try.
  const credential = await ceremony.catch(() => null);
  const field = form.elements.namedItem('credential');
  if (!(credential instanceof PublicKeyCredential) || !(field instanceof HTMLInputElement)) return;
  field.value = JSON.stringify(credential.toJSON());
  form.submit();
}

function optionsOf({ dataset: { options = '{}' } }: HTMLFormElement) {
  return JSON.parse(options);
}
