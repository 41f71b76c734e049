import htm from 'htm';
import { type ComponentChildren, h, type VNode } from 'preact';

/** Templates of elements. Text in them stays text: nothing here writes HTML. */
export const html = htm.bind(h) as (parts: TemplateStringsArray, ...values: readonly unknown[]) => VNode;

export type Children = ComponentChildren;
