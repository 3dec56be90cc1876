// What the expressions of a mapping can name, beside their own constants.

/// The migration manager, in an expression of a mapping.
public let NSMigrationManagerKey = "manager"
/// The object that is migrated, in an expression of a mapping.
public let NSMigrationSourceObjectKey = "source"
/// The object that it becomes, in an expression of a mapping.
public let NSMigrationDestinationObjectKey = "destination"
/// The mapping of the entity, in an expression of a mapping.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The mapping of the property, in an expression of a mapping.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The policy of the entity's mapping, in an expression of a mapping.
public let NSMigrationEntityPolicyKey = "entityPolicy"
