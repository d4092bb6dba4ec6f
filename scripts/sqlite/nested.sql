SELECT 'nested', :none, sqlite_version();
