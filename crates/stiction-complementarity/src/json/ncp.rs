//! The kind `mcp`: expression trees between bounds.
