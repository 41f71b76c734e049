import * as Type from 'typebox/type';
import { operatorRoles } from '../../operators/index.ts';

/** The words in which the operations of operators describe their documents. */

export const text = Type.String();
export const flag = Type.Boolean();
export const whole = Type.Integer();
export const moment = Type.String({ format: 'date-time' });
/** Decimal text with exactly the decimals of the currency, so that no reader rounds it. */
export const amount = Type.String({ pattern: '^-?[0-9]+([.][0-9]+)?$' });
export const texts = Type.Array(Type.String());
export const anything = Type.Unknown();

export function orNull<Schema extends Type.TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values] });
}

/** A document. Members may be added later. */
export function shape<Members extends Record<string, Type.TSchema>>(members: Members) {
  return Type.Object(members);
}

/** A body: an unknown member is refused by name. */
export function body<Members extends Record<string, Type.TSchema>>(members: Members) {
  return Type.Object(members, { additionalProperties: false });
}

export const optional = Type.Optional;

export { line } from '../schemas.ts';

/** In the audit, in the operator's words. */
export const reason = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^\\P{C}*[^\\p{C}\\s]\\P{C}*$',
  description: 'Why, for the audit.',
});

/** The body of an act that does harm or that somebody may have to explain. */
export const withReason = body({ reason });

export const roles = Type.Array(oneOf(operatorRoles), { minItems: 1, maxItems: 5, uniqueItems: true });

/** Whether the act changed anything. A repeated act changes nothing. */
export const Changed = shape({ changed: flag });
