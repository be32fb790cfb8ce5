// @ts-check
/** Traits and events of a widget's model. */

/**
 * Handle several events of a model until the result is called.
 *
 * @param {import('../types.js').EventSource} model
 * @param {Readonly<Record<string, import('../types.js').EventHandler>>} handlers
 * @returns {import('../types.js').Cleanup}
 */
export function listen(model, handlers) {
  const entries = Object.entries(handlers);
  for (const [event, handler] of entries) {
    model.on(event, handler);
  }
  return () => {
    for (const [event, handler] of entries) {
      model.off(event, handler);
    }
  };
}

/**
 * Set a trait here and in the kernel.
 *
 * @template Traits
 * @template {keyof Traits} Trait
 * @param {import('../types.js').Model<Traits>} model
 * @param {Trait} trait
 * @param {Traits[Trait]} value
 */
export function save(model, trait, value) {
  model.set(trait, value);
  model.save_changes();
}
