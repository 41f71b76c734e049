import { operation } from '../../operation.ts';
import {
  endpointExample,
  keysExample,
  presentEndpoint,
  WebhookEndpoint,
  WebhookOrder,
} from '../../webhook-shapes.ts';

export const createWebhook = operation({
  operationId: 'createWebhook',
  method: 'POST',
  path: '/digitalbanking/db-webhooks/v1/endpoints',
  tag: 'Webhooks',
  summary: 'Create webhook',
  description:
    'Registers an address to which events are sent from now on. Each webhook is signed after Standard Webhooks, by a secret and by a public key of this endpoint. An event is sent at least once, and after every earlier event of its accounts; its `webhook-id` is always the same. `sequence` counts the events of the institution, so a receiver proves that none is missing.',
  token: 'client',
  scope: 'webhooks:manage',
  body: {
    schema: WebhookOrder,
    mediaTypes: ['application/json'],
    examples: {
      some: { value: { url: endpointExample.url, eventTypes: endpointExample.eventTypes } },
      all: { summary: 'All events, in full', value: { url: endpointExample.url, payload: 'FULL' } },
    },
  },
  responses: {
    201: {
      description: 'The endpoint with its secret, which is not shown again.',
      headers: { Location: 'URL of the endpoint.' },
      schema: WebhookEndpoint,
      examples: { created: { value: { ...endpointExample, keys: keysExample } } },
    },
  },
  problems: ['too_many_endpoints', 'outcome_unknown'],
  async handle(services, { actor, body, url, origin }) {
    const {
      url: target,
      description = null,
      eventTypes = null,
      payload = 'THIN',
      ordering = 'ACCOUNT',
    } = body;
    const settings = { url: target, description, eventTypes, payload, ordering };
    const { endpoint, keys } = await services.webhooks.create(actor, settings, origin);
    return {
      status: 201,
      headers: { location: `${url}/${endpoint.endpointId}` },
      body: presentEndpoint(endpoint, keys),
    };
  },
});
