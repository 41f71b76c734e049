/** A fact about the service that the document states. */
export function factOf(name: 'issuer' | 'origin'): string {
  return document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content ?? location.origin;
}
