// What the store's model says, with what entities inherit: the views ask this, not the JSON.

/** The entities of a store. */
export class Model {
  #entities = new Map();

  constructor(schema) {
    for (const description of schema.entities) this.#entities.set(description.name, description);
  }

  get names() {
    return [...this.#entities.keys()];
  }

  has(name) {
    return this.#entities.has(name);
  }

  description(name) {
    return this.#entities.get(name);
  }

  /** An entity and those above it, the topmost first. */
  #line(name) {
    const line = [];
    for (let at = this.#entities.get(name); at; at = this.#entities.get(at.superentityName)) line.unshift(at);
    return line;
  }

  attributes(name) {
    return this.#line(name).flatMap((entity) => entity.attributes ?? []);
  }

  relationships(name) {
    return this.#line(name).flatMap((entity) => entity.relationships ?? []);
  }

  uniquenessConstraints(name) {
    return this.#line(name).flatMap((entity) => entity.uniquenessConstraints ?? []);
  }

  subentities(name) {
    return this.names.filter((other) => other !== name && this.#line(other).some((entity) => entity.name === name));
  }

  attribute(entity, name) {
    return this.attributes(entity).find((attribute) => attribute.name === name);
  }

  relationship(entity, name) {
    return this.relationships(entity).find((relationship) => relationship.name === name);
  }

  /** What a key path such as shop.name leads to: an attribute, a relationship, or nothing. */
  property(entity, path) {
    const names = path.split(".");
    let at = entity;
    for (const [index, name] of names.entries()) {
      const relationship = this.relationship(at, name);
      if (index === names.length - 1) return relationship ?? this.attribute(at, name);
      if (!relationship) return undefined;
      at = relationship.destinationEntityName;
    }
    return undefined;
  }

  /** The columns that a table of an entity can have: attributes and to-one relationships. */
  columns(name) {
    const columns = [{ key: "objectID", type: "objectID", label: "id" }];
    if (this.subentities(name).length > 0) columns.push({ key: "entity", type: "string", label: "entity" });
    for (const attribute of this.attributes(name)) {
      columns.push({ key: attribute.name, type: attribute.type, label: attribute.name, attribute });
    }
    for (const relationship of this.relationships(name)) {
      if (!relationship.isToMany) columns.push({ key: relationship.name, type: "reference", label: relationship.name, relationship });
    }
    return columns;
  }
}
